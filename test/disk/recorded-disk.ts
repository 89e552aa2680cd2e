import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Random } from '../support/random.ts';
import { isOfShares } from './shares.ts';

/** Writes and output of a program, as watched-disk.c records them. */
export type Step =
  | { readonly kind: 'disk'; readonly apply: (disk: Disk) => void }
  /** Sends to a service over one connection, or writes to the reader of the output. */
  | { readonly kind: 'sent' | 'said'; readonly text: string };

/** Some of what a file was given, which is on disk for certain once the file is flushed. */
type Change = { readonly at: number; readonly bytes: Buffer } | { readonly sizeBytes: number };
type StoredFile = { flushed: Buffer; changes: readonly Change[] };
/** Undefined is a folder. */
type Named = StoredFile | undefined;
type Naming = { readonly path: string; readonly names: Named | 'nothing'; readonly from?: string };

/** A disk of which some is certain to outlast a power cut, and of the rest any part may. */
export type Disk = {
  readonly files: Map<number, StoredFile>;
  /** Flushed names, by path. */
  readonly named: Map<string, Named>;
  /** Names created, renamed or removed since their folder was flushed. */
  namings: readonly Naming[];
};

/** A home as it lies there, all of it certain. */
export function makeDisk(folder: string): Disk {
  const disk: Disk = { files: new Map(), named: new Map([['', undefined]]), namings: [] };
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stats = statSync(join(folder, path));
    const file = stats.isDirectory()
      ? undefined
      : { flushed: readFileSync(join(folder, path)), changes: [] };
    if (file !== undefined) disk.files.set(stats.ino, file);
    disk.named.set(path, file);
  }
  return disk;
}

const HEAD_BYTES = 25;

/** @param folder the home that it was recorded in */
export function readTrace(trace: string, folder: string): Step[] {
  const bytes = readFileSync(trace);
  const steps: Step[] = [];
  for (let at = 0; at < bytes.length; ) {
    const what = String.fromCharCode(bytes.readUInt8(at));
    const [ino, offset] = [bytes.readBigUInt64LE(at + 1), bytes.readBigUInt64LE(at + 9)].map(
      Number,
    ) as [number, number];
    const begin = at + HEAD_BYTES;
    const middle = begin + bytes.readUInt32LE(at + 17);
    at = middle + bytes.readUInt32LE(at + 21);
    const second = bytes.subarray(middle, at);
    const path = (piece: Buffer): string => relative(folder, piece.toString());
    const first = bytes.subarray(begin, middle);
    if (what === 's' || what === 'o')
      steps.push({ kind: what === 's' ? 'sent' : 'said', text: second.toString('latin1') });
    else
      steps.push({
        kind: 'disk',
        apply: (disk) =>
          apply(disk, { what, ino, at: offset, path: path(first), other: path(second), second }),
      });
  }
  return steps;
}

type Written = {
  what: string;
  ino: number;
  at: number;
  path: string;
  other: string;
  second: Buffer;
};

function apply(disk: Disk, { what, ino, at, path, other, second }: Written): void {
  const change = (created: Change): void => {
    const file = disk.files.get(ino);
    if (file !== undefined) file.changes = [...file.changes, created];
  };
  const name = (...namings: Naming[]): void => {
    disk.namings = [...disk.namings, ...namings];
  };
  switch (what) {
    case 'c': {
      const file: StoredFile = { flushed: Buffer.alloc(0), changes: [] };
      disk.files.set(ino, file);
      name({ path, names: file });
      return;
    }
    case 'w':
      change({ at, bytes: second });
      return;
    case 't':
      change({ sizeBytes: at });
      return;
    case 'f': {
      const file = disk.files.get(ino);
      if (file !== undefined) flush(file);
      return;
    }
    case 'S':
      for (const file of disk.files.values()) flush(file);
      for (const each of disk.namings) rename(disk.named, each);
      disk.namings = [];
      return;
    case 'F': {
      const [flushed, open] = partition(disk.namings, (each) => getFolder(each.path) === path);
      for (const each of flushed) rename(disk.named, each);
      disk.namings = open;
      return;
    }
    case 'm':
      name({ path, names: undefined });
      return;
    case 'u':
      name({ path, names: 'nothing' });
      return;
    case 'r':
      name({ path: other, names: standing(disk).get(path), from: path });
      return;
    case 'l':
      name({ path: other, names: standing(disk).get(path) });
      return;
    default:
      throw new Error(`no record is called ${what}`);
  }
}

function flush(file: StoredFile): void {
  Object.assign(file, { flushed: getContent(file, file.changes), changes: [] });
}

function getFolder(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}

function partition<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}

function rename(named: Map<string, Named>, { path, names, from }: Naming): void {
  if (from !== undefined) named.delete(from);
  if (names === 'nothing') named.delete(path);
  else named.set(path, names);
}

/** Visible names, as programs see them. */
function standing({ named, namings }: Disk): Map<string, Named> {
  const seen = new Map(named);
  for (const each of namings) rename(seen, each);
  return seen;
}

function getContent({ flushed }: StoredFile, changes: readonly Change[]): Buffer {
  let content = flushed;
  for (const change of changes) {
    if ('sizeBytes' in change) {
      content = Buffer.concat([
        content.subarray(0, change.sizeBytes),
        Buffer.alloc(Math.max(0, change.sizeBytes - content.length)),
      ]);
      continue;
    }
    const end = change.at + change.bytes.length;
    // A copy: what is certain stays as it is.
    content = Buffer.concat([content, Buffer.alloc(Math.max(0, end - content.length))]);
    change.bytes.copy(content, change.at);
  }
  return content;
}

/** A home as a power cut may leave it, by path; folders are left out. */
export type Image = ReadonlyMap<string, Buffer>;

const SECTOR_BYTES = 512;

/** Up to so many, all of them are made. */
const ALL_OF = 16;

/** Outcome of each uncertain write, in order. `half`: only some sectors of a write. */
type Fate = 'kept' | 'lost' | 'half';

/** Images that a power cut may leave after each step of the shares, about so many in all. */
export function* imagesAfter(
  steps: readonly Step[],
  disk: Disk,
  images: number,
  random: Random,
): Generator<{ readonly index: number; readonly image: Image }> {
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'disk') step.apply(disk);
    if (!isOfShares(index)) continue;
    for (const image of imagesAt(disk, Math.ceil(images / steps.length), random))
      yield { index, image };
  }
}

/**
 * States that a power cut may leave at this moment: without anything that is not certain, with all
 * of it, with all up to something, without each, with each alone, and random ones with torn writes.
 * All there are, where they are few.
 */
function* imagesAt(disk: Disk, most: number, random: Random): Generator<Image> {
  // Memory shared by processes may be anything afterwards, see `lay`.
  const names = [...standing(disk), ...disk.named].flatMap(([path, file]) =>
    file === undefined || file.changes.length === 0 || path.endsWith('-shm') ? [] : [file],
  );
  const files = [...new Set(names)];
  const count = disk.namings.length + files.reduce((sum, { changes }) => sum + changes.length, 0);
  const draw = (fates: (index: number) => Fate): Image =>
    makeImage(
      disk,
      files,
      Array.from({ length: count }, (_, index) => fates(index)),
      random,
    );
  yield draw(() => 'kept');
  if (count === 0) return;
  yield draw(() => 'lost');
  if (2 ** count <= Math.max(most, ALL_OF)) {
    for (let bits = 1; bits < 2 ** count - 1; bits += 1)
      yield draw((index) => (((bits >> index) & 1) === 1 ? 'kept' : 'lost'));
    return;
  }
  const pick = (): number => random.between(0, count - 1);
  const shapes: readonly ((chosen: number) => (index: number) => Fate)[] = [
    (chosen) => (index) => (index <= chosen ? 'kept' : 'lost'),
    (chosen) => (index) => (index === chosen ? 'lost' : 'kept'),
    (chosen) => (index) => (index === chosen ? 'kept' : 'lost'),
    (chosen) => (index) => (index === chosen ? 'half' : 'kept'),
    (chosen) => (index) => (index === chosen ? 'half' : index < chosen ? 'kept' : 'lost'),
    () => () => random.pick(['kept', 'lost']),
    () => () => random.pick(['kept', 'kept', 'kept', 'half', 'lost']),
  ];
  for (let imageCount = 2; imageCount < most; imageCount += 1)
    yield draw(random.pick(shapes)(pick()));
}

function makeImage(
  disk: Disk,
  files: readonly StoredFile[],
  fates: readonly Fate[],
  random: Random,
): Image {
  const named = new Map(disk.named);
  for (const [index, naming] of disk.namings.entries())
    if (fates[index] !== 'lost') rename(named, naming);
  let next = disk.namings.length;
  const contents = new Map<StoredFile, Buffer>();
  for (const file of files) {
    const changes = file.changes.flatMap((change) => {
      const fate = fates[next++];
      if (fate === 'lost') return [];
      return fate === 'half' && 'bytes' in change ? listSectors(change, random) : [change];
    });
    contents.set(file, getContent(file, changes));
  }
  const image = new Map<string, Buffer>();
  for (const [path, file] of named) {
    if (file === undefined || !hasFolders(named, path)) continue;
    image.set(path, contents.get(file) ?? file.flushed);
  }
  return image;
}

/** As a disk writes it, which cuts at its own bounds. */
function listSectors(
  { at, bytes }: { readonly at: number; readonly bytes: Buffer },
  random: Random,
): Change[] {
  const pieces: Change[] = [];
  for (let begin = 0; begin < bytes.length; ) {
    const end = Math.min(bytes.length, begin + SECTOR_BYTES - ((at + begin) % SECTOR_BYTES));
    if (random.chance(0.5)) pieces.push({ at: at + begin, bytes: bytes.subarray(begin, end) });
    begin = end;
  }
  return pieces;
}

function hasFolders(named: ReadonlyMap<string, Named>, path: string): boolean {
  for (let folder = getFolder(path); folder !== ''; folder = getFolder(folder))
    if (!named.has(folder)) return false;
  return true;
}

/**
 * Puts an image into a folder. What processes shared in memory is never flushed, and may be
 * anything afterwards.
 */
export function lay(
  folder: string,
  image: Image,
  isWanted: (path: string) => boolean,
  random: Random,
): void {
  for (const [path, bytes] of image) {
    if (!isWanted(path)) continue;
    const isShared = path.endsWith('-shm');
    if (isShared && random.chance(0.5)) continue;
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(
      join(folder, path),
      isShared ? Buffer.alloc(32_768, random.between(0, 255)) : bytes,
    );
  }
}
