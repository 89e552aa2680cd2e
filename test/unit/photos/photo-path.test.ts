import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makePhotoResolver } from '../../../src/photos/photograph.ts';
import { inWords } from '../../support/in-words.ts';
import { tempFolder } from '../../support/temp-folder.ts';

let home = '';
let root = '';
const at = (...names: string[]): string => join(root, ...names);

beforeAll(() => {
  home = realpathSync(tempFolder());
  root = join(home, 'season');
  mkdirSync(at('photos'), { recursive: true });
  writeFileSync(at('photos', 'K-017.png'), 'x');
  writeFileSync(at('photos', 'Žďár.png'.normalize('NFC')), 'x');
  writeFileSync(join(home, 'secret.png'), 'x');
  symlinkSync(join(home, 'secret.png'), at('photos', 'link.png'));
  symlinkSync(home, at('out'));
  symlinkSync(at('photos'), at('same'));
});

describe('a photograph named in a table', () => {
  test.each(['photos/K-017.png', 'photos\\K-017.png', './photos/K-017.png', 'same/K-017.png'])(
    '%s is found',
    (name) => {
      expect(makePhotoResolver(root)(name)).toEqual({ value: at('photos', 'K-017.png') });
    },
  );

  test.each([
    'C:\\photos\\K-017.png',
    '/storage/emulated/0/K-017.png',
    'C:K-017.png',
    '\\\\server\\photos\\K-017.png',
  ])('%s of another computer is looked up by its name', (name) => {
    expect(makePhotoResolver(at('photos'))(name)).toEqual({ value: at('photos', 'K-017.png') });
  });

  test('is found however its accents are composed', () => {
    expect(makePhotoResolver(root)('photos/Žďár.png'.normalize('NFD'))).toEqual({
      value: at('photos', 'Žďár.png'.normalize('NFC')),
    });
  });

  test.each([
    ['../secret.png', 'photo-path', 'points outside the folder'],
    ['photos/../../secret.png', 'photo-path', 'points outside the folder'],
    ['photos\\..\\..\\secret.png', 'photo-path', 'points outside the folder'],
    ['/etc/hostname', 'photo-missing', 'There is no photograph'],
    ['C:\\photos\\K-018.png', 'photo-missing', 'There is no photograph'],
    ['\\\\server\\photos\\K-018.png', 'photo-missing', 'There is no photograph'],
    ['/etc/..', 'photo-path', 'points outside the folder'],
    ['photos/link.png', 'photo-path', 'points outside the folder'],
    ['out/secret.png', 'photo-path', 'points outside the folder'],
    ['photos/K-018.png', 'photo-missing', 'no photograph "photos/K-018.png"'],
  ])('%s is refused', (name, rule, message) => {
    expect(inWords(makePhotoResolver(root)(name))).toEqual({
      rule,
      problem: expect.stringContaining(message),
    });
  });

  test('a missing folder of photographs stops the command', () => {
    expect(() => makePhotoResolver(join(home, 'none'))).toThrow('cannot be read');
  });
});
