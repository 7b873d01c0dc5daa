// Light or dark: as the system has it until the switch says otherwise, which is remembered. Not a module, so that it
// runs before the page is drawn.

(() => {
  const KEY = "quelea.theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  function tell() {
    document.getElementById("theme")?.setAttribute("aria-pressed", String(isDark()));
    document.dispatchEvent(new CustomEvent("theme"));
  }

  const stored = localStorage.getItem(KEY);
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  system.addEventListener("change", tell);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      localStorage.setItem(KEY, root.dataset.theme);
      tell();
    });
    tell();
  });
})();
