import type { ComponentType } from 'preact';

/** A part of the page, loaded when it is first opened. */
export interface Section {
  /** The first segment of its places: `#/requests`. */
  readonly path: string;
  readonly title: string;
  readonly load: () => Promise<{ readonly View: ComponentType }>;
  /** Whether the navigation lists it. */
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
