import { useEffect, useState } from 'preact/hooks';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];
const icons: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };
const storageKey = 'sandbox-theme';

/** Goes through the system's colours, light and dark. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(
    () => themes.find((each) => each === localStorage.getItem(storageKey)) ?? 'system',
  );
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(storageKey, theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  return (
    <button
      type="button"
      class="quiet icon"
      title={`Colours: ${theme}`}
      aria-label={`Colours: ${theme}. Change to ${next}`}
      onClick={() => setTheme(next)}
    >
      {icons[theme]}
    </button>
  );
}
