import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The inputs that are kept of a target: one a line, in base64, the shortest first. */
function getFile(target: string): string {
  return fileURLToPath(new URL(`corpus/${target}.txt`, import.meta.url));
}

export function readCorpus(target: string): Buffer[] {
  return readFileSync(getFile(target), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'base64'));
}

export function writeCorpus(target: string, inputs: readonly Buffer[]): void {
  const lines = inputs
    .toSorted((a, b) => a.length - b.length || a.compare(b))
    .map((input) => `${input.toString('base64')}\n`);
  writeFileSync(getFile(target), lines.join(''));
}
