/** A JWT, whole or without its signature: it could be used until it expires. */
const TOKEN = /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]*)?/g;
const BASIC = /\b(Basic|basic) [A-Za-z0-9+/=]{16,}/g;

/** The text without anything that could be used to sign in. */
export function redact(text: string): string {
  return text.replace(TOKEN, '<token>').replace(BASIC, '$1 <credentials>');
}
