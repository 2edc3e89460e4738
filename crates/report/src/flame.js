for (const graph of document.querySelectorAll(".flame")) {
  const frames = [...graph.querySelectorAll(".f")].map(g => {
    const rect = g.querySelector("rect"), text = g.querySelector("text");
    return { g, rect, text, x: +rect.getAttribute("x"), width: +rect.getAttribute("width") };
  });
  if (!frames.length) continue;
  const all = frames[0];
  const show = to => frames.forEach(f => {
    const scale = all.width / to.width;
    const left = all.x + (f.x - to.x) * scale, right = left + f.width * scale;
    const x = Math.max(left, all.x), width = Math.min(right, all.x + all.width) - x;
    f.g.style.display = width > 0.05 ? "" : "none";
    if (width > 0.05) {
      const name = f.g.dataset.name, letters = Math.floor((width - 4) / 6.6);
      f.rect.setAttribute("x", x);
      f.rect.setAttribute("width", width);
      f.text.setAttribute("x", x + 2);
      f.text.textContent = letters >= name.length ? name : 3 > letters ? "" : name.slice(0, letters - 2) + "..";
    }
  });
  frames.forEach(f => f.g.addEventListener("click", () => show(f)));
}
