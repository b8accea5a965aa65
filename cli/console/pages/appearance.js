// Dark or light: as the system has it, until somebody chooses here; the choice stays in this browser.

const CHOICE = "appearance";
const system = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (localStorage.getItem(CHOICE) ?? (system.matches ? "dark" : "light")) === "dark";

export function appearance(button) {
  const show = () => {
    const choice = localStorage.getItem(CHOICE);
    if (choice) document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
    button.textContent = isDark() ? "Light" : "Dark";
  };
  button.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    // What the system has anyway is not a choice: the page then follows it again.
    if (wanted === (system.matches ? "dark" : "light")) localStorage.removeItem(CHOICE);
    else localStorage.setItem(CHOICE, wanted);
    show();
  });
  system.addEventListener("change", show);
  show();
}
