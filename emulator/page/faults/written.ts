/* Values as the languages of the lines to copy write them. What cannot be seen is escaped. */

const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function escaped(text: string): string {
  return text.replaceAll(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether a text holds what a shell cannot be told by its code. */
export function isPlainText(text: string): boolean {
  return !/\p{Cc}|\p{Surrogate}/u.test(text) && text.replaceAll(UNSEEN, '') === text;
}

export function writeJson(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, undefined, indent));
}

/** A literal of TypeScript, in one line. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `${memberName(name)}: ${literal(one)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** `__proto__: …` would set the prototype. */
function memberName(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

function quoted(text: string): string {
  const inner = writeJson(text).slice(1, -1);
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** What goes into a template literal as it is. */
export function inTemplate(text: string): string {
  return writeJson(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll(/`|\$\{/g, (one) => `\\${one}`);
}

/** Block style of YAML 1.2, of which JSON is a part. */
export function writeYaml(value: unknown, depth = 0): string {
  const margin = '  '.repeat(depth);
  if (Array.isArray(value) && value.length > 0) {
    return value.map((one) => `\n${margin}- ${writeYaml(one, depth + 1).trimStart()}`).join('');
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && !Array.isArray(value)) {
    return Object.entries(value)
      .map(([name, one]) => `\n${margin}${yamlScalar(name)}:${writeYaml(one, depth + 1).replace(/^(?!\n)/, ' ')}`)
      .join('');
  }
  return yamlScalar(value);
}

/** Words that YAML 1.1 or 1.2 reads as something else than a text. */
const NO_TEXT = /^(?:true|false|yes|no|on|off|y|n|null)$/i;

function yamlScalar(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[A-Za-z][\w./*+@=;%-]*$/.test(value) && !NO_TEXT.test(value);
  return isPlain ? value : writeJson(value);
}
