/*
 * Turns of phrase that the linter refuses, with the reason. Not TypeScript, because nothing is compiled when the linter runs.
 *
 * openers: first words of a comment. phrases: anywhere in a comment, in a document, in a message or in a test title.
 */

/** First words of a comment. A comment begins with the verb or the noun that says what the code does or is. */
export const openers = [
  [/^What\b/, 'begin with a noun ("Result of …") or a verb ("Returns …")'],
  [/^Whether\b/, 'write "True if …" or "Returns true if …"'],
  [/^How (many|far|long|much|often)\b/, 'write "Number of …", "Maximum …" or "Duration of …"'],
  [/^Of (a|an|the|what|its)\b/, 'begin with the subject'],
  [/^Where\b/, 'write "Position of …" or "Address of …"'],
  [/^As (it|they|is)\b/, 'begin with the subject'],
];

/** Phrases that must be read twice. */
export const phrases = [
  [/\bthat (is|are) no [a-z]/, 'write "that is not a …"'],
  [/\b(?<!there )(is|are) none\b/, 'write "if absent" or "there is no …"'],
  [/\b(?<!not )(is|are) told\b/, 'name who reports what: "the error names …", "the journal shows …"'],
  [/\bas (it|they) lies?\b/, 'write "as stored"'],
  [/\bso manieth\b/, 'write "every n-th"'],
  [/\bgrow no \w+er\b/, 'write "does not"'],
  [/\bno more than (it|they) must\b/, 'state the limit'],
  [/\bthere is none that\b/, 'write "no … does"'],
  [/\bwhat (was|is) asked for\b/, 'name it: the requested pack, the Accept header'],
  [/\bcame to the limit of\b/, 'write "reached the limit of"'],
  [/\b(is|are) the most\b/, 'write "at most N are allowed"'],
  [/\bNo request is so\b/, 'write "No request matches"'],
  [/\bstands? in the way\b/, 'write "blocks" or "conflicts with"'],
];
