import { signal } from '@preact/signals';

/*
 * Setting of the user that switches the single-character keys of the page on and off, such as `/`. Users of speech
 * input switch them off, because spoken words would trigger them (WCAG 2.2, 2.1.4).
 */

/** Key of the setting in the storage of the browser. It is absent if the keys are on, and has the value `off` if not. */
const STORED = 'emulator.single-keys';

/** True if the single-character keys of the page have an effect. */
export const hasSingleKeys = signal(withStorage((storage) => storage.getItem(STORED)) !== 'off');

/** Switches the single-character keys on or off. The setting is kept for later visits if the browser allows storage. */
export function setSingleKeys(isOn: boolean): void {
  hasSingleKeys.value = isOn;
  withStorage((storage) => (isOn ? storage.removeItem(STORED) : storage.setItem(STORED, 'off')));
}

/** Calls `use` with the storage of the browser. Returns undefined if the browser has or allows no storage. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}
