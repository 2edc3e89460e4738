//! Kernel settings: each is named by data alone, read, written, and put back.
//!
//! A setting of a network device, and a sysctl below `net`, belong to a network namespace: the one of the
//! calling thread. (The kernel looks the sysctl table up with the caller's namespaces at each access;
//! `fs/proc/proc_sysctl.c`.)

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cpu::CpuSet;
use crate::error::{Error, Result};
use crate::ethtool;
use crate::netns::{self, NetNs};
use crate::sysfs::Sysfs;

/// The kernel's interface that a setting is reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A parameter below /proc/sys: `net.ipv4.ip_forward`. A name that holds a `/` is its path there.
    Sysctl,
    /// A file of sysfs, by its path below /sys: `class/net/*/threaded`.
    Sysfs,
    /// A parameter of ethtool: `rings/rx`, `channels/combined`, `coalescing/rx-usecs`, `features/rx-gro`.
    Ethtool,
    /// The CPUs that serve an interrupt, by its number: `24`. Its value is a list: `0-3,5`.
    Irq,
    /// A service of systemd, by its name: `irqbalance`. Its value is `running` or `stopped`.
    Service,
}

/// One setting of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setting {
    /// How it is reached.
    pub kind: Kind,
    /// Its name; `*` stands for the interface.
    pub name: String,
    /// The network device it belongs to, where it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
}

/// A new value of a setting and the one before: enough to put it back after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChange {
    /// What is set.
    pub setting: Setting,
    /// Inode number of the network namespace it is set in.
    pub netns: u64,
    /// Cookie of that namespace, where the kernel has them: another one may get the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookie: Option<u64>,
    /// Its value before.
    pub before: String,
    /// Its new value.
    pub value: String,
}

impl Setting {
    /// A sysctl: `Setting::sysctl("net.ipv4.ip_forward")`.
    pub fn sysctl(name: impl Into<String>) -> Self {
        Self {
            kind: Kind::Sysctl,
            name: name.into(),
            interface: None,
        }
    }

    /// A sysfs file of a network device, by its path in the device's folder: `queues/rx-0/rps_cpus`.
    #[must_use]
    pub fn device_file(interface: &str, file: &str) -> Self {
        Self {
            kind: Kind::Sysfs,
            name: format!("{DEVICES}*/{file}"),
            interface: Some(interface.to_owned()),
        }
    }

    /// Its value, without the final newline. Of a sysfs file that lists its choices: the one in brackets.
    ///
    /// # Errors
    /// There is no such setting here (ENOENT), or no right to read it.
    pub fn read(&self) -> Result<String> {
        match self.kind {
            Kind::Ethtool => return ethtool::parameter(self.device()?, &self.name),
            Kind::Service => return service::HERE.read(&self.name),
            _ => {}
        }
        let text = self.file()?.read();
        let text = text.map_err(|e| self.refused("read", self.object(), &e))?;
        let text = text.trim_end_matches('\n');
        let is_choice = self.kind == Kind::Sysfs;
        Ok(if is_choice { selected(text) } else { text }.to_owned())
    }

    /// Writes a value and reads it back.
    ///
    /// # Errors
    /// There is no such setting here (ENOENT), no right, a value that the kernel refuses (EINVAL), or
    /// accepts and changes.
    pub fn write(&self, value: &str) -> Result<()> {
        let object = format!("{}={value}{}", self.full_name(), netns::place());
        match self.kind {
            Kind::Ethtool => ethtool::set_parameter(self.device()?, &self.name, value)?,
            Kind::Service => service::HERE.write(&self.name, value)?,
            _ => {
                let written = self.file()?.write(value);
                written.map_err(|e| self.refused("write", object.clone(), &e))?;
            }
        }
        let has = self.read()?;
        if self.is_same(value, &has) {
            return Ok(());
        }
        let text = format!("the kernel accepted it, and the value is `{has}` now");
        Err(Error::from_text(self.operation("write"), object, text)
            .with_remedy("give a value that the kernel does not change"))
    }

    /// Writes a value unless the setting has it already.
    ///
    /// # Errors
    /// As [`Setting::write`].
    pub fn ensure(&self, value: &str) -> Result<()> {
        match self.read() {
            Ok(has) if self.is_same(value, &has) => Ok(()),
            _ => self.write(value),
        }
    }

    /// Whether the setting exists here.
    #[must_use]
    pub fn exists(&self) -> bool {
        match self.kind {
            Kind::Ethtool | Kind::Service => self.read().is_ok(),
            _ => self.file().is_ok_and(|file| file.path.exists()),
        }
    }

    /// Prepares a change to this value: reads the value before, and writes nothing yet.
    ///
    /// # Errors
    /// As [`Setting::read`].
    pub fn change_to(self, value: impl Into<String>) -> Result<SettingChange> {
        Ok(SettingChange {
            netns: netns::own_inode()?,
            cookie: netns::own_cookie(),
            before: self.read()?,
            value: value.into(),
            setting: self,
        })
    }

    /// Whether both texts mean one value. The kernel prints its own blanks between words, and a mask of CPUs
    /// with all its zeros and commas.
    #[must_use]
    pub fn is_same(&self, wanted: &str, has: &str) -> bool {
        if self.kind == Kind::Irq {
            let cpus = |text: &str| text.parse::<CpuSet>().ok();
            return cpus(wanted).is_some() && cpus(wanted) == cpus(has);
        }
        let is_mask = MASKS.iter().any(|end| self.name.ends_with(end));
        if is_mask {
            let digits = |text: &str| text.trim().replace(',', "").to_ascii_lowercase();
            return digits(wanted).trim_start_matches('0') == digits(has).trim_start_matches('0');
        }
        wanted
            .split_ascii_whitespace()
            .eq(has.split_ascii_whitespace())
    }

    fn file(&self) -> Result<File> {
        let (root, relative) = match self.kind {
            Kind::Sysctl if self.name.contains('/') => ("/proc/sys", self.name.clone()),
            Kind::Sysctl => ("/proc/sys", self.name.replace('.', "/")),
            Kind::Irq => ("/proc/irq", format!("{}/smp_affinity_list", self.name)),
            Kind::Sysfs | Kind::Ethtool | Kind::Service => ("/sys", self.name.clone()),
        };
        let relative = match &self.interface {
            Some(interface) if !interface.contains('/') => relative.replace('*', interface),
            Some(_) => String::new(),
            None => relative,
        };
        let parts = || relative.split('/');
        if parts().any(|part| part.is_empty() || part == "." || part == "..") {
            let object = format!("`{}`", self.full_name());
            let error = Error::from_text(self.operation("name"), object, "not a name of a setting");
            return Err(error.with_remedy("write it as net.ipv4.ip_forward, or as a path"));
        }
        // The sysfs of /sys shows the devices of the namespace it was mounted in, whoever looks.
        let of_namespace = self.kind == Kind::Sysfs && self.name.starts_with(DEVICES);
        let mount = of_namespace.then(Sysfs::open).transpose()?;
        let root = mount
            .as_ref()
            .map_or_else(|| PathBuf::from(root), Sysfs::path);
        Ok(File {
            path: root.join(relative),
            _mount: mount,
        })
    }

    fn device(&self) -> Result<&str> {
        self.interface.as_deref().ok_or_else(|| {
            Error::from_text(self.operation("name"), &*self.name, "no interface is given")
                .with_remedy("an ethtool parameter belongs to an interface: name it")
        })
    }

    fn operation(&self, verb: &str) -> String {
        let kind = match self.kind {
            Kind::Sysctl => "sysctl",
            Kind::Sysfs => "sysfs file",
            Kind::Ethtool => "ethtool parameter",
            Kind::Irq => "CPUs of interrupt",
            Kind::Service => "service",
        };
        format!("{verb} {kind}")
    }

    /// Its name with the interface in it.
    #[must_use]
    pub fn full_name(&self) -> String {
        match &self.interface {
            Some(interface) => self.name.replace('*', interface),
            None => self.name.clone(),
        }
    }

    fn object(&self) -> String {
        format!("{}{}", self.full_name(), netns::place())
    }

    fn refused(&self, verb: &str, object: String, error: &std::io::Error) -> Error {
        let refused = Error::from_io(self.operation(verb), object, error);
        match error.raw_os_error() {
            Some(libc::ENOENT) if self.exists() => refused
                .with_remedy("load the module of that name, or give a name that this kernel has"),
            Some(libc::ENOENT) => refused.with_remedy("this kernel has no such setting here"),
            Some(libc::EINVAL | libc::ERANGE) => {
                refused.with_remedy("the kernel does not take this value")
            }
            Some(libc::EIO) if self.kind == Kind::Irq => {
                refused.with_remedy("the kernel does not let this interrupt move")
            }
            // The file itself refuses with EACCES (`tcp_set_default_congestion_control`).
            Some(libc::EPERM) if self.name.replace('/', ".") == CONGESTION_CONTROL => refused
                .with_remedy(
                    "a network namespace takes only those of net.ipv4.tcp_allowed_congestion_control: \
                     add it there in the machine's own namespace",
                ),
            _ => refused,
        }
    }
}

impl SettingChange {
    /// Writes the new value.
    ///
    /// # Errors
    /// As [`Setting::write`].
    pub fn apply(&self) -> Result<()> {
        self.setting.write(&self.value)
    }

    /// Writes the value before again, in the namespace where it was. `false` where namespace or setting are
    /// gone. A second call does no harm.
    ///
    /// # Errors
    /// As [`Setting::write`].
    pub fn revert(&self) -> Result<bool> {
        let Some(netns) = NetNs::find_exact(self.netns, self.cookie)? else {
            return Ok(false);
        };
        match netns.run(|| self.setting.ensure(&self.before))? {
            Ok(()) => Ok(true),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Only the machine's own network namespace may set it to a restricted one.
const CONGESTION_CONTROL: &str = "net.ipv4.tcp_congestion_control";
/// Folder of the network devices in sysfs.
const DEVICES: &str = "class/net/";
/// Ends of the names of settings that are masks in hexadecimal digits.
const MASKS: [&str; 5] = ["_cpus", "_rxqs", "_affinity", "cpumask", "_cpu_bitmap"];

/// The file of a setting, with the sysfs it is in where that is mounted for it alone.
struct File {
    path: PathBuf,
    _mount: Option<Sysfs>,
}

impl File {
    fn read(&self) -> std::io::Result<String> {
        std::fs::read_to_string(&self.path)
    }

    fn write(&self, value: &str) -> std::io::Result<()> {
        std::fs::write(&self.path, value)
    }
}

/// The word in brackets where there is one (`always [madvise] never`), or in parentheses among others, as the scheduler
/// has it (`none (lazy) full`); else all of the text.
#[must_use]
pub fn selected(text: &str) -> &str {
    let inside = |open, close| {
        let (word, _) = text.split_once(open)?.1.split_once(close)?;
        Some(word)
    };
    let among = || inside('(', ')').filter(|_| text.contains(' '));
    inside('[', ']').or_else(among).unwrap_or(text)
}

mod service;
#[cfg(test)]
mod tests;
