//! Services of systemd, which are `running` or `stopped`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// The manager of services: what it is asked by, and what is there while it runs.
#[derive(Clone, Copy)]
pub(super) struct Manager<'a> {
    /// Program and first arguments.
    pub systemctl: &'a [&'a str],
    /// There where systemd runs (`sd_booted(3)`).
    pub mark: &'a str,
}

/// That of this machine.
pub(super) const HERE: Manager<'_> = Manager {
    systemctl: &["systemctl"],
    mark: "/run/systemd/system",
};

impl Manager<'_> {
    /// Whether a service runs.
    pub fn read(self, name: &str) -> Result<String> {
        let properties = ["show", "--property=LoadState", "--property=ActiveState"];
        let text = self.ask("read service", &properties, name)?;
        let has = |line: &str| text.lines().any(|known| known == line);
        if has("LoadState=not-found") {
            let missing = Error::from_errno("read service", name, libc::ENOENT);
            return Err(missing.with_remedy("systemd has no unit of this name"));
        }
        let is_running = ["active", "activating", "reloading"]
            .iter()
            .any(|state| has(&format!("ActiveState={state}")));
        Ok(if is_running { "running" } else { "stopped" }.to_owned())
    }

    /// Starts or stops a service.
    pub fn write(self, name: &str, value: &str) -> Result<()> {
        let verb = match value {
            "running" => "start",
            "stopped" => "stop",
            _ => {
                let error =
                    Error::from_text("write service", name, format!("not a state: {value}"));
                return Err(error.with_remedy("a service is running or stopped"));
            }
        };
        let operation = format!("{verb} service");
        self.ask(&operation, &["--no-ask-password", verb], name)
            .map(drop)
    }

    fn ask(self, operation: &str, arguments: &[&str], name: &str) -> Result<String> {
        let failed = |text: &str| Error::from_text(operation, name, text);
        let by_hand = "start and stop services by hand";
        if !Path::new(self.mark).exists() {
            return Err(failed("systemd does not run here").with_remedy(by_hand));
        }
        let [program, first @ ..] = self.systemctl else {
            return Err(failed("no program is given").with_remedy(by_hand));
        };
        let output = Command::new(program)
            .args(first)
            .args(arguments)
            .args(["--", &format!("{name}.service")])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Error::from_io(operation, name, &error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(failed(said.lines().next().unwrap_or("systemctl failed"))
            .with_remedy("see systemctl status of it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It keeps the state of each service in a file beside it.
    const FAKE: &str = r#"for unit; do :; done
file="${0%/*}/${unit%.service}"
case "$1 $2" in
show*)
    [ -e "$file" ] || { echo LoadState=not-found; echo ActiveState=inactive; exit 0; }
    echo LoadState=loaded; echo "ActiveState=$(cat "$file")" ;;
*start) echo active > "$file" ;;
*stop)
    [ "$unit" != auditd.service ] || { echo "Operation refused" >&2; exit 4; }
    echo inactive > "$file" ;;
esac
"#;

    #[test]
    fn a_service_is_stopped_and_started() {
        let folder = std::env::temp_dir().join(format!("mpps-service-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        put("systemctl", FAKE);
        put("irqbalance", "active\n");
        put("auditd", "active\n");
        put("cron", "failed\n");
        let fake = folder.join("systemctl").display().to_string();
        let command = ["/bin/sh", fake.as_str()];
        let manager = Manager {
            systemctl: &command,
            mark: "/",
        };
        let read = |name: &str| manager.read(name);
        assert_eq!(read("irqbalance").unwrap(), "running");
        assert_eq!(read("cron").unwrap(), "stopped");
        assert!(read("no-such").unwrap_err().is_missing());
        manager.write("irqbalance", "stopped").unwrap();
        assert_eq!(read("irqbalance").unwrap(), "stopped");
        manager.write("irqbalance", "running").unwrap();
        assert_eq!(read("irqbalance").unwrap(), "running");
        let refused = manager.write("auditd", "stopped").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "stop service auditd: Operation refused (see systemctl status of it)"
        );
        assert!(manager.write("auditd", "2").is_err());
        let missing = folder.join("no-systemd").display().to_string();
        let without = Manager {
            mark: &missing,
            ..manager
        };
        let refused = without.read("auditd").unwrap_err().to_string();
        assert_eq!(
            refused,
            "read service auditd: systemd does not run here (start and stop services by hand)"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
