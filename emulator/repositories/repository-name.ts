const MAX_NAME_BYTES = 255;

/**
 * Returns the reason why a repository name is invalid, as the end of a sentence; undefined if it is valid. The
 * specification states no rule. Names are refused if the URL of a Git remote could not contain them unambiguously.
 */
export function repositoryNameIssue(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `is longer than ${MAX_NAME_BYTES} bytes`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f\\]|\p{Surrogate}/u.test(name))
    return 'contains a control character, a backslash or invalid Unicode';
  if (name.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'has a segment between slashes that is empty, "." or ".."';
  }
  return /\+(ephemeral|import)$/.test(name)
    ? 'ends with +ephemeral or +import, which are reserved for Git remotes'
    : undefined;
}
