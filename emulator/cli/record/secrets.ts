import { isSecretField, REDACTED, redactQuery, redactText, secretMembers } from '../../journal/redaction.js';

/**
 * Matches the names of JSON members whose values are secret in the body of any operation. A deployment may have
 * operations that the emulator does not know.
 */
const SECRET_MEMBER =
  /^(?:env|passw(?:or)?d|(?:client|shared|webhook)?[_-]?secret|(?:api|private|secret)[_-]?key|(?:access|api|auth|id|refresh|session)?[_-]?token|authorization)$/i;

/** Matches a member of a JSON object whose value is a string, without the final quote: `"name": "value`. */
const TEXT_MEMBER = /"([\w-]+)"(\s*:\s*")((?:[^"\\]|\\.)*)/g;

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

  /**
   * Remembers the secret members of a body in JSON, and returns the body without them. The text may also be form data, or
   * the beginning of a JSON text. `operation` is undefined for an operation that the emulator does not know.
   */
  takeFromBody(text: string, operation: string | undefined, side: 'request' | 'response'): string {
    const names = operation === undefined ? [] : secretMembers(operation, side);
    const isSecret = (name: string): boolean => names.includes(name) || SECRET_MEMBER.test(name);
    let hasSecret = false;
    try {
      const value: unknown = JSON.parse(text, (name, member: unknown) => {
        if (!isSecret(name)) return member;
        hasSecret = true;
        this.#noteLeaves(member);
        return REDACTED;
      });
      return hasSecret ? JSON.stringify(value) : text;
    } catch {
      for (const [name, value] of new URLSearchParams(text)) if (isSecret(name)) this.#note(value);
      return redactQuery(text).replace(TEXT_MEMBER, (whole, name: string, begin: string, value: string) => {
        if (!isSecret(name)) return whole;
        this.#note(value);
        return `"${name}"${begin}${REDACTED}`;
      });
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
