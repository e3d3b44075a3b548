import { OptionError } from '../config/option-values.js';
import { readTextFile, UnreadableFile } from '../system/text-file.js';
import { UsageError } from './usage-error.js';

/** Reads a YAML or JSON file. Throws a `UsageError` that names `flag` and the file. */
export async function readDocument(flag: string, file: string): Promise<unknown> {
  const { readYaml, YamlError } = await import('../scenarios/yaml.js');
  try {
    return await readYaml(readTextFile(file));
  } catch (error) {
    const name = JSON.stringify(file);
    if (error instanceof UnreadableFile)
      throw new UsageError(`${flag}: the file ${name} cannot be read: ${error.message}.`);
    if (error instanceof YamlError)
      throw new UsageError(`${flag}: the file ${name} is neither JSON nor YAML: ${error.message}.`);
    throw error;
  }
}

/**
 * Parses a JSON object that the user typed as an argument. Throws `OptionError` with the message `complaint` if the
 * text is not a JSON object.
 */
export function readJsonObject(text: string, complaint: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return { ...read };
  } catch {
    // Ignores the syntax error. The statement after this block throws an error with the message `complaint`.
  }
  throw new OptionError(complaint);
}
