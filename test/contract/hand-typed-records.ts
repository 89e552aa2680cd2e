import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/own-files.ts';
import { getShape, type Shape } from './record-shapes.ts';
import type { SchemaVersion } from './schema-validators.ts';

/**
 * One hand-typed file each, in version 2.2, with every element that the entity may have; the two
 * kinds of record apart.
 */
export const RECORDS = [
  'projekt',
  'archeologicky_zaznam-akce',
  'archeologicky_zaznam-lokalita',
  'let',
  'adb',
  'dokument',
  'ext_zdroj',
  'pian',
  'samostatny_nalez',
  'uzivatel',
  'heslo',
  'ruian_kraj',
  'ruian_okres',
  'ruian_katastr',
  'organizace',
  'osoba',
] as const;
export type RecordName = (typeof RECORDS)[number];

/** An element of a record: its lines, those of its parent, and what it should be. */
export type Found = {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly parentStart: number;
  readonly shape: Shape;
};

/**
 * The lines of a record, without what a version does not have yet, but for the element that is to
 * be kept all the same.
 */
export function record(name: RecordName, version: SchemaVersion = '2.2', keep = ''): string[] {
  const lines = readFileSync(
    join(packageRoot, 'test/contract/records', `${name}.xml`),
    'utf8',
  ).split('\n');
  const tooNew = parseElements(lines).filter(
    ({ shape, path }) => shape.since > version && path !== keep,
  );
  return tooNew.reduceRight(
    (keptLines, { start, end }) => keptLines.toSpliced(start, end - start + 1),
    lines,
  );
}

/**
 * Every element below the entity, in document order. The files give each its own line or lines,
 * indented by two a level.
 */
export function parseElements(lines: readonly string[]): Found[] {
  const open: { name: string; start: number }[] = [];
  return lines.flatMap((line, start) => {
    const [, indent = '', name] = /^((?: {2})+)<svc:(\w+)/.exec(line) ?? [];
    if (name === undefined) return [];
    const depth = indent.length / 2 - 1;
    open.splice(depth, Number.POSITIVE_INFINITY, { name, start });
    const parent = open[depth - 1];
    const grandparent = open[depth - 2];
    if (parent === undefined) return [];
    const path = open.map((element) => element.name).join('/');
    const shape = getShape(grandparent?.name ?? '', parent.name)?.find(
      (child) => child.name === name,
    );
    if (shape === undefined) throw new Error(`no shape for ${path}`);
    const end = line.includes(`</svc:${name}>`)
      ? start
      : lines.indexOf(`${indent}</svc:${name}>`, start);
    return [{ path, start, end, parentStart: parent.start, shape }];
  });
}
