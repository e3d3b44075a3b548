/**
 * Browsers, with the pattern of their product and version in a user agent. The first pattern that matches decides,
 * because browsers also send the products of other browsers.
 */
const BROWSERS = [
  ['Edge', /\bEdg\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\bFirefox\/(\d+)/],
  ['Chrome', /Chrome\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\//],
] as const;

/**
 * Returns the short name of a client: the first product of its user agent, such as `git/2.39.5` (RFC 9110, section
 * 10.1.5). All browsers call this product `Mozilla/5.0`, so they get the name and version of the browser instead.
 */
export function clientName(userAgent: string): string {
  if (userAgent.startsWith('Mozilla/')) {
    for (const [name, pattern] of BROWSERS) {
      const version = pattern.exec(userAgent)?.[1];
      if (version !== undefined) return `${name}/${version}`;
    }
  }
  return /^[^\s(]+/.exec(userAgent)?.[0] ?? userAgent;
}
