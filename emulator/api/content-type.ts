/** Where the registry of media types means something else by an extension than people who keep source code do. */
const SOURCES = new Set([
  'ts',
  'mts',
  'cts',
  'tsx',
  'jsx',
  'rs',
  'go',
  'py',
  'rb',
  'sh',
  'c',
  'h',
  'cc',
  'cpp',
  'java',
  'toml',
  'lock',
]);
const PLAIN = 'text/plain; charset=utf-8';
/** What Git looks at to tell text from binary (`buffer_is_binary`). */
const SNIFFED_BYTES = 8000;

/** A suitable `Content-Type` for a file, by its name, else by whether it looks like text. */
export async function contentTypeOf(path: string, body: Buffer): Promise<string> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  if (SOURCES.has(extension)) return PLAIN;
  // The table of types is large; programs that never read a file do not load it.
  const { default: mimeTypes } = await import('mime-types');
  const known = extension === '' ? false : mimeTypes.contentType(name);
  if (known) return known;
  return body.subarray(0, SNIFFED_BYTES).includes(0) ? 'application/octet-stream' : PLAIN;
}
