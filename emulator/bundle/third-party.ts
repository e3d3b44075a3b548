import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RolldownOutput } from 'rolldown';

/** npm package of another author whose code is included in a bundle of this package. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** Licence as an SPDX expression, from the package.json of the npm package. */
  readonly licence: string;
  /** Texts of the licence and notice files of the npm package, which must be shipped with its code. */
  readonly texts: readonly string[];
  readonly author: string | undefined;
}

/** Licences whose code may be in a package under the Apache License 2.0 if their text is included. */
export const PERMITTED: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Zlib',
];

/**
 * Pattern that captures the folder of the innermost package in a path, such as `…/node_modules/@koa/router` in
 * `…/node_modules/@koa/router/lib/router.js`.
 */
const PACKAGE_FOLDER = /^(?:\0)?(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/;

/** Returns the npm packages whose modules are included in these bundles, sorted by name. */
export function bundledPackages(outputs: readonly RolldownOutput[]): BundledPackage[] {
  const chunks = outputs.flatMap(({ output }) => output).filter((one) => one.type === 'chunk');
  const folders = new Set(
    chunks.flatMap(({ moduleIds }) => moduleIds.flatMap((id) => PACKAGE_FOLDER.exec(id)?.[1] ?? [])),
  );
  const packages = [...folders].map(readPackage).map((one) => [`${one.name} ${one.version}`, one] as const);
  return [...new Map(packages)].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one);
}

function readPackage(folder: string): BundledPackage {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
    readonly author?: string | { readonly name: string };
  };
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  return {
    name,
    version,
    licence: license ?? 'none',
    texts: files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim()),
    author: typeof author === 'object' ? author.name : author,
  };
}

/**
 * Returns true if the permitted licences satisfy an SPDX expression of `AND` and `OR`. Returns false for other forms of
 * expressions.
 */
export function isPermitted(licence: string): boolean {
  const all = licence.replaceAll(/[()]/g, '').split(' AND ');
  return all.every((any) => any.split(' OR ').some((one) => PERMITTED.includes(one)));
}

/**
 * Returns the licence texts of all bundled npm packages as one text, which is shipped with the package. Throws an error
 * if a licence is not permitted.
 */
export function writeNotice(packages: readonly BundledPackage[]): string {
  const refused = packages.filter(({ licence }) => !isPermitted(licence));
  if (refused.length > 0) {
    throw new Error(
      `licences not permitted in a bundle: ${refused.map(({ name, licence }) => `${name} (${licence})`).join(', ')}`,
    );
  }
  return `This package contains code of these packages, each under its own licence.\n\n${packages.map(writePackage).join('\n')}`;
}

function writePackage({ name, version, licence, texts, author }: BundledPackage): string {
  const line = '='.repeat(80);
  const by = author === undefined ? '' : `\n${author}`;
  // Some packages name their licence only in package.json and have no licence file. A sentence replaces the licence
  // text of such a package.
  const text =
    texts.length > 0
      ? texts.join('\n\n')
      : `The package states its licence (${licence}) and contains no licence text.${by}`;
  return `${line}\n${name} ${version}\n${licence}\n${line}\n\n${text}\n`;
}
