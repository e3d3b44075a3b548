import { readTextFile, UnreadableFile } from '../system/text-file.js';
import { OptionError } from './option-values.js';
import { parseVariants, type Variants } from './variants.js';

/** Variants as an object, or the path of a file that contains it. */
export function variants(given: unknown): Variants {
  try {
    return parseVariants(typeof given === 'string' ? JSON.parse(readTextFile(given)) : given);
  } catch (error) {
    if (error instanceof UnreadableFile) {
      throw new OptionError(`cannot be used: ${JSON.stringify(given)} cannot be read (${error.message})`);
    }
    // The parser's message quotes the file, including line breaks.
    throw new OptionError(`cannot be used: ${(error as Error).message.replace(/\s+/g, ' ').replace(/\.$/, '')}`);
  }
}
