import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { adminToken, isTokenWanted } from './api/session.js';
import { useTitle } from './components/hooks.js';
import { Loading, loadCode, useLoaded } from './components/loaded.js';
import { NamespaceSwitcher } from './namespace-switcher.js';
import { go, place, writePlace } from './place.js';
import { StatusBar } from './status-bar.js';
import { TokenForm } from './token-form.js';

/**
 * Root component of the emulator's web page. It shows the navigation and one section, which the fragment of the page's
 * URL selects. If the section is unknown, the list of requests is shown.
 */
export function App() {
  const { section: path } = place.value;
  const section = SECTIONS.find((one) => one.path === path);
  useEffect(() => {
    if (section === undefined) go(writePlace('requests'), { replace: true });
  }, [section]);
  useTitle(isTokenWanted.value ? 'Admin token' : section?.title);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="bar">
        <nav aria-label="Sections">
          {SECTIONS.filter(({ isListed }) => isListed).map(({ path: one, title }) => (
            <a key={one} href={writePlace(one)} aria-current={isWithin(path, one) ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        {!isTokenWanted.value && <StatusBar key={adminToken.value} />}
        <NamespaceSwitcher />
      </header>
      <main id="main" tabIndex={-1}>
        {isTokenWanted.value ? (
          <TokenForm />
        ) : (
          section && <Opened key={`${path} ${adminToken.value}`} section={section} />
        )}
      </main>
    </>
  );
}

/**
 * Returns true if the navigation marks the entry `listed` as current while the section `path` is open. A section for a
 * single object belongs to the list of these objects, such as `repository` to `repositories`.
 */
function isWithin(path: string, listed: string): boolean {
  return path === listed || `${path}s` === listed || path === listed.replace(/ies$/, 'y');
}

function Opened({ section }: { readonly section: Section }) {
  const { value: view, error } = useLoaded(() => loadCode<{ readonly View: ComponentType }>(section.load()), [section]);
  return view ? <view.View /> : <Loading value={view} error={error} />;
}

/**
 * Section of the web page. Its code is a separate file, which the browser loads when the user first opens the section.
 */
export interface Section {
  /** Name of the section in the fragment of the page's URL, such as `requests` in `#/requests`. */
  readonly path: string;
  readonly title: string;
  readonly load: () => Promise<{ readonly View: ComponentType }>;
  /**
   * True if the navigation has a link to the section. A section for a single object, such as a repository, has no link.
   */
  readonly isListed: boolean;
}

export const SECTIONS: readonly Section[] = [
  { path: 'requests', title: 'Requests', isListed: true, load: () => import('./requests/view.js') },
  { path: 'repositories', title: 'Repositories', isListed: true, load: () => import('./repositories/view.js') },
  { path: 'repository', title: 'Repository', isListed: false, load: () => import('./repositories/repository.js') },
  { path: 'faults', title: 'Faults', isListed: true, load: () => import('./faults/view.js') },
  { path: 'scenarios', title: 'Scenarios', isListed: true, load: () => import('./scenarios/view.js') },
  { path: 'verify', title: 'Verify', isListed: true, load: () => import('./verify/view.js') },
  { path: 'control', title: 'Control', isListed: true, load: () => import('./control/view.js') },
];
