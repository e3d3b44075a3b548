import { useEffect } from 'preact/hooks';

/** Sets the title of the document to what the page shows, such as `Control: Clock`; undefined leaves it as it is. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} – repohost-emulator`;
  }, [title]);
}
