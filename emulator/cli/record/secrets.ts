import { isSecretField, REDACTED, redactText, secretMembers } from '../../journal/redaction.js';

/** Minimum length of a secret. Shorter values, such as the user name `t`, also occur in other texts. */
const MIN_LENGTH = 8;
/** Maximum number of secrets to remember, because each is searched in the whole recording. */
const MAX_SECRETS = 1_000;

/**
 * Secrets that the exchanges of a recording contained, such as tokens in headers. Patterns find only some secrets in a
 * text, so a recording also removes each known secret wherever it occurs.
 */
export class SeenSecrets {
  readonly #values = new Set<string>();

  /** Remembers the secrets in header fields, in the format of Node's `rawHeaders`. */
  noteHeaders(raw: readonly string[]): void {
    for (let at = 0; at + 1 < raw.length; at += 2) {
      if (!isSecretField(raw[at]!)) continue;
      const value = raw[at + 1]!;
      const [, basic] = /^basic +(\S+)$/i.exec(value) ?? [];
      const parts = basic === undefined ? value.split(/[\s;,]+/) : [basic, ...passwordOf(basic)];
      for (const part of parts) this.#note(part.replace(/^[\w.-]+="?([^"]*)"?$/, '$1'));
    }
  }

  /** Remembers the secret members of a JSON body. `text` is the beginning of the body. */
  noteBody(text: string, operation: string | undefined, side: 'request' | 'response'): void {
    const names = operation === undefined ? [] : secretMembers(operation, side);
    if (names.length === 0) return;
    try {
      JSON.parse(text, (name, value: unknown) => {
        if (names.includes(name)) this.#noteLeaves(value);
        return value;
      });
    } catch {
      // The whole body is redacted, because its secret members cannot be found.
    }
  }

  /** Returns a JSON text in which all remembered secrets are redacted. */
  redact(json: string): string {
    let text = json;
    for (const value of this.#values) {
      for (const form of new Set([
        JSON.stringify(value).slice(1, -1),
        encodeURIComponent(Buffer.from(value).toString()),
      ])) {
        text = text.replaceAll(form, REDACTED);
      }
    }
    return text;
  }

  #noteLeaves(value: unknown): void {
    if (typeof value === 'string') this.#note(value);
    else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) this.#noteLeaves(each);
  }

  #note(value: string): void {
    // Skips a value that a pattern redacts anyway, because clients may sign a new token for each request.
    if (value.length < MIN_LENGTH || redactText(value) === REDACTED || this.#values.size === MAX_SECRETS) return;
    this.#values.add(value);
  }
}

function passwordOf(basic: string): string[] {
  const pair = Buffer.from(basic, 'base64').toString();
  return pair.includes(':') ? [pair.slice(pair.indexOf(':') + 1)] : [];
}
