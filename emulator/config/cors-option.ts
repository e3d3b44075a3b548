import { list, OptionError, type Row } from './option-values.js';

/** Start option for web pages of other origins that use the API or Git remotes. */
export interface CorsOptions {
  /**
   * Origins (scheme, host and port) of web pages that may read responses, or only `*` for all origins. If empty,
   * responses have no CORS headers, so browsers let no web page of another origin read them.
   */
  readonly cors: readonly string[];
}

const ANY = '*';

export const CORS_ROWS: { readonly [Name in keyof CorsOptions]: Row<CorsOptions[Name]> } = {
  cors: {
    default: [],
    value: 'ORIGIN',
    help: 'Origin of web pages that may use the API and the Git remotes, such as http://localhost:5173, or * for every origin.',
    repeatable: true,
    read: readOrigins,
  },
};

function readOrigins(given: unknown): readonly string[] {
  const origins = list(readOrigin)(given);
  if (origins.length > 1 && origins.includes(ANY)) {
    throw new OptionError('must be either * or a list of origins, not both');
  }
  return origins;
}

/** Reads an origin and returns it as browsers send it (RFC 6454, section 6.2): in lower case, without default port. */
function readOrigin(given: unknown): string {
  if (given === ANY) return ANY;
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const isOrigin =
    url !== undefined && url.host !== '' && /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\\s]+\/?$/i.test(String(given));
  if (!isOrigin) {
    throw new OptionError(
      `must be * or an origin such as http://localhost:5173, without path, but is ${JSON.stringify(given)}`,
    );
  }
  return `${url.protocol}//${url.host}`;
}
