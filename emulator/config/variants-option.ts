import { readTextFile, UnreadableFile } from '../system/text-file.js';
import { OptionError } from './option-values.js';
import { parseVariants, type Variants } from './variants.js';

/**
 * Reads the option `variants` (configurable behaviours). The value is an object with the chosen behaviours, or the path
 * of a JSON file with this object. Throws `OptionError`.
 */
export function variants(given: unknown): Variants {
  try {
    return parseVariants(typeof given === 'string' ? JSON.parse(readTextFile(given)) : given);
  } catch (error) {
    if (error instanceof UnreadableFile) {
      throw new OptionError(`cannot be used: the file ${JSON.stringify(given)} cannot be read: ${error.message}`);
    }
    // Line breaks are replaced, because the JSON parser's message may quote several lines of the file.
    throw new OptionError(`cannot be used: ${(error as Error).message.replace(/\s+/g, ' ').replace(/\.$/, '')}`);
  }
}
