
// Before anything is drawn: say that there is a script, and take the theme that the reader chose before.
document.documentElement.classList.add("js");
try {
  const theme = localStorage.getItem("aqlgen-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be closed to files; the system's theme is used.
}
