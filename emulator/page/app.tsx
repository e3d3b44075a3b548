import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { adminToken, isTokenWanted } from './api/session.js';
import { Loading } from './components/feedback.js';
import { useTitle } from './components/hooks.js';
import { loadCode, useLoaded } from './components/loaded.js';
import { NamespaceSwitcher } from './namespace-switcher.js';
import { go, place, writePlace } from './place.js';
import { SECTIONS, type Section } from './sections.js';
import { TokenForm } from './token-form.js';

/** The frame around the sections. */
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
        Skip to the content
      </button>
      <header class="bar">
        <nav aria-label="Sections">
          {SECTIONS.filter(({ isListed }) => isListed).map(({ path: one, title }) => (
            <a key={one} href={writePlace(one)} aria-current={isWithin(path, one) ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
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

/** `repository` is within `repositories`. */
function isWithin(path: string, listed: string): boolean {
  return path === listed || `${path}s` === listed || path === listed.replace(/ies$/, 'y');
}

function Opened({ section }: { readonly section: Section }) {
  const { value: view, error } = useLoaded(() => loadCode<{ readonly View: ComponentType }>(section.load()), [section]);
  return view ? <view.View /> : <Loading value={view} error={error} />;
}
