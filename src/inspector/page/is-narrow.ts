import { useEffect, useState } from 'preact/hooks';

const query = matchMedia('(max-width: 720px)');

/** Whether the page is as narrow as a phone, as the style sheet sees it. */
export function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(query.matches);
  useEffect(() => {
    const listener = () => setIsNarrow(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, []);
  return isNarrow;
}
