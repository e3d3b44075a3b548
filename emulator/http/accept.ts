/**
 * Returns true if an `Accept` header allows `mediaType` (RFC 9110, section 12.5.1):
 *
 *     Accept      = #( media-range [ weight ] )
 *     media-range = ( "*" "/" "*" / ( type "/*" ) / ( type "/" subtype ) ) parameters
 *
 * "Media ranges can be overridden by more specific media ranges", and a weight of 0 means "not acceptable". An absent
 * or empty header allows every media type.
 */
export function accepts(header: string | undefined, mediaType: string): boolean {
  if (header === undefined || header.trim() === '') return true;
  const ranges = ['*/*', `${mediaType.split('/')[0]}/*`, mediaType];
  let best = -1;
  let isAllowed = false;
  for (const element of header.split(',')) {
    const [range, ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
    const rank = ranges.indexOf(range!);
    if (rank < best || rank < 0) continue;
    const allows = !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    isAllowed = rank === best ? isAllowed || allows : allows;
    best = rank;
  }
  return isAllowed;
}
