import { quoteText } from '../faults/shell.js';
import { UsageError } from './usage-error.js';

type Variable = readonly [name: string, value: string];

/** How variables are written for what reads them. Throws `UsageError` for a value that a format has no words for. */
export const ENV_FORMATS = {
  sh: {
    about: 'eval "$(emulator env)"',
    write: lines(([name, value]) => `export ${name}=${quoteText(value)}`),
  },
  fish: {
    about: 'emulator env --format fish | source',
    // fish(1), Quotes: between single quotes only \' and \\ are escapes.
    write: lines(([name, value]) => `set -gx ${name} '${value.replace(/['\\]/g, '\\$&')}'`),
  },
  pwsh: {
    about: 'emulator env --format pwsh | Out-String | Invoke-Expression',
    write: lines(([name, value]) => `$env:${name} = ${writePwsh(value)}`),
  },
  dotenv: { about: 'emulator env --format dotenv > .env', write: lines(writeDotenv) },
  github: { about: 'emulator env --format github >> "$GITHUB_ENV"', write: lines(writeGithub) },
  json: {
    about: 'an object',
    write: (variables: readonly Variable[]) => `${JSON.stringify(Object.fromEntries(variables), undefined, 2)}\n`,
  },
} satisfies Readonly<Record<string, { about: string; write: (variables: readonly Variable[]) => string }>>;

export type EnvFormat = keyof typeof ENV_FORMATS;

function lines(write: (variable: Variable) => string): (variables: readonly Variable[]) => string {
  return (variables) => variables.map((variable) => `${write(variable)}\n`).join('');
}

/**
 * about_Quoting_Rules: between single quotes only the quote is special, and is doubled; typographic single quotes count
 * as quotes. A line break would end the line where a pipe passes on lines.
 */
function writePwsh(value: string): string {
  const parts = value.split(/([\r\n])/).map((part) => {
    if (part === '\n' || part === '\r') return `[char]${part.charCodeAt(0)}`;
    return `'${part.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
  });
  return parts.length === 1 ? parts[0]! : `(${parts.join(' + ')})`;
}

/**
 * There is no standard. What needs no quotes is read as it stands by all readers. Single quotes are for most readers what
 * they are for a shell; some take \\ and \' between them for escapes, and all but a few know no `'` there, so what has
 * either is written in another kind of quotes, in which nothing of the value may mean anything.
 */
function writeDotenv([name, value]: Variable): string {
  if (/^[\w./:@%+,=~-]*$/.test(value)) return `${name}=${value}`;
  const quote = DOTENV_QUOTES.find(([, forbidden]) => !forbidden.test(value))?.[0];
  if (quote === undefined) {
    throw new UsageError(`${name} cannot be written as dotenv, which has no quotes for it; take --format json.`);
  }
  return `${name}=${quote}${value}${quote}`;
}

const DOTENV_QUOTES = [
  ["'", /['\\\r]/],
  ['"', /["\\$\r`]/],
  ['`', /[`\r]/],
] as const;

/** GitHub's documentation, Workflow commands, "Multiline strings": the delimiter must not be a line of the value. */
function writeGithub([name, value]: Variable): string {
  let delimiter = 'END_OF_VALUE';
  while (value.includes(delimiter)) delimiter += '_';
  return `${name}<<${delimiter}\n${value}\n${delimiter}`;
}
