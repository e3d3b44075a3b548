import { errorLog, type Log, type LogLine, printable } from '../log/log.js';

/** Creates the log that the flag `--log` selects. It has one line per request, in JSON or in readable form. */
export function createLog(form: 'pretty' | 'json' | 'quiet', write: (text: string) => void): Log {
  if (form === 'quiet') return errorLog;
  const format = form === 'json' ? formatJson : formatPretty;
  return { write: (line) => write(format(line)) };
}

function formatJson(line: LogLine): string {
  return `${JSON.stringify(line)}\n`;
}

/**
 * Formats a log line, such as `12:00:00 200 GET /api/repos repo=team/app`. The reason follows if the request was
 * refused.
 */
function formatPretty(line: LogLine): string {
  if (line.event === 'page') return `page ${String(line.url)}\n`;
  if (line.event !== 'request') return `${printable(JSON.stringify(line))}\n`;
  const { at, status, method, path, repository, code, origin, why } = line;
  const parts = [String(at).slice(11, 19), status, method, path];
  if (repository !== undefined) parts.push(`repo=${String(repository)}`);
  if (origin !== 'real') parts.push(String(origin));
  if (code !== undefined)
    parts.push(`${code}:`, Array.isArray(why) ? why.map((reason) => String(reason).replace(/\.$/, '')).join('; ') : '');
  return `${printable(parts.join(' ').trimEnd())}\n`;
}
