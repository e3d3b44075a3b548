import { type ByteString, byteOf, bytesIn, NO_BYTES, replaceBytes, sliceBytes } from '../object/bytes.js';
import { BadConfig, type ConfigVariable, parseConfig } from './config-file.js';
import { type Finding, finding } from './messages.js';

/** Checks a `.gitmodules` file for values that could make a client run a command or write outside its work tree. */
export function checkGitmodules(body: Buffer): Finding[] {
  const findings: Finding[] = [];
  try {
    for (const variable of parseConfig(bytesIn(body))) findings.push(...checkVariable(variable));
  } catch (error) {
    if (!(error instanceof BadConfig)) throw error;
    findings.push(finding('gitmodulesParse', 'could not parse gitmodules blob'));
  }
  return findings;
}

function* checkVariable({ name, value }: ConfigVariable): IterableIterator<Finding> {
  const dot = name.lastIndexOf('.');
  const prefix = 'submodule.';
  if (!name.startsWith(prefix) || dot < prefix.length) return;
  const module = sliceBytes(name, prefix.length, dot);
  const key = name.slice(dot + 1);
  if (isBadName(module)) yield finding('gitmodulesName', `disallowed submodule name: ${module}`);
  if (value === undefined) return;
  if (key === 'url' && isBadUrl(value)) yield finding('gitmodulesUrl', `disallowed submodule url: ${value}`);
  if (key === 'path' && value.startsWith('-')) {
    yield finding('gitmodulesPath', `disallowed submodule path: ${value}`);
  }
  if (key === 'update' && value.startsWith('!')) {
    yield finding('gitmodulesUpdate', `disallowed submodule update setting: ${value}`);
  }
}

function isBadName(name: ByteString): boolean {
  return name === '' || /(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name);
}

const RELATIVE = /^\.\.?[/\\]/;
const TRANSPORT = /^(?:(?:https?|ftps?)::)?/;

/**
 * Returns true for submodule URLs that Git refuses. These are URLs that a command would take for an option, relative
 * URLs that lead above the host, and URLs with line feeds, which could deceive a credential helper.
 */
function isBadUrl(url: ByteString): boolean {
  if (url.startsWith('-')) return true;
  if (RELATIVE.test(url) || url.startsWith('git://')) {
    return decodeUrl(url).includes('\n') || climbsOverHost(url);
  }
  if (!/^(?:https?|ftps?)(?:::|:\/\/)/.test(url)) return false;
  const target = replaceBytes(url, TRANSPORT, () => NO_BYTES);
  const host = /^[^:/?#]+:\/\/(?:[^/?#@]*@)*(?<host>[^/?#]*)/.exec(target)?.groups?.host;
  return !host || host.startsWith(':') || decodeUrl(target).includes('\n');
}

/**
 * Returns true for a relative URL that could replace the host. In such a URL, `:` or `/` follows the `../` segments:
 * `../../../:evil.example/x`.
 */
function climbsOverHost(url: ByteString): boolean {
  const [dots] = /^(?:\.\.?[/\\])*/.exec(url)!;
  return /\.\.[/\\]/.test(dots) && /^[:/]/.test(url.slice(dots.length));
}

function decodeUrl(url: ByteString): ByteString {
  return replaceBytes(url, /%([0-9a-fA-F]{2})/g, (_, hex) => byteOf(Number.parseInt(hex, 16)));
}
