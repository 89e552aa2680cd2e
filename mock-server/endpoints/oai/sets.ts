import { readFileSync } from 'node:fs';
import type { SchemaVersion } from '../../base/addresses.ts';
import { getPackagePath } from '../../base/package-files.ts';

/** One row of the contract's list of sets, with its names. */
export type HarvestSet = {
  readonly setSpec: string;
  readonly cs: string;
  readonly en: string;
  readonly vocabulary: boolean;
  readonly versions: readonly SchemaVersion[];
};

const EVERY_SET = JSON.parse(
  readFileSync(getPackagePath('schemas', 'contract', 'set-specs.json'), 'utf8'),
) as readonly HarvestSet[];

/** Returns the sets of an endpoint; the deployed service lists all of them everywhere. */
export function getSets(version: SchemaVersion, deployed: boolean): readonly HarvestSet[] {
  return deployed ? EVERY_SET : EVERY_SET.filter((set) => set.versions.includes(version));
}

/** Returns the set of a header: the most specific one of the endpoint, else its parent. */
export function chooseSetSpec(setSpec: string, version: SchemaVersion, deployed: boolean): string {
  if (deployed || !setSpec.includes(':')) return setSpec;
  return NAMES[version].has(setSpec) ? setSpec : (setSpec.split(':')[0] ?? setSpec);
}

const NAMES: Readonly<Record<SchemaVersion, ReadonlySet<string>>> = {
  '2.0': listSetNames('2.0'),
  '2.1': listSetNames('2.1'),
  '2.2': listSetNames('2.2'),
};

function listSetNames(version: SchemaVersion): ReadonlySet<string> {
  return new Set(getSets(version, false).map((set) => set.setSpec));
}
