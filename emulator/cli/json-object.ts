import { OptionError } from '../config/option-values.js';

/** Reads JSON that was typed as an argument. Throws `OptionError`: `what` takes a JSON object, such as `example`. */
export function readJsonObject(text: string, what: string, example: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return { ...read };
  } catch {
    // Told below.
  }
  throw new OptionError(`${what} takes a JSON object, such as ${example}.`);
}
