import { describe, expect, test } from 'vitest';
import { makeDataPaths, type UserSystem } from '../../../src/cli/context/places.ts';

function system(platform: NodeJS.Platform, homeFolder: string): UserSystem {
  return { platform, homeFolder, accountFolder: homeFolder };
}

const linux = system('linux', '/home/eva');
const macOs = system('darwin', '/Users/eva');
const windows = system('win32', 'C:\\Users\\Eva Nováková');

/** Folders of the data and of the state. */
function lies(environment: Record<string, string>, on: UserSystem): readonly string[] {
  const { home, paceFile, ledgerFile } = makeDataPaths(environment, on);
  return [home, paceFile, ledgerFile];
}

describe('data and state are stored in the standard places', () => {
  test('on Linux', () => {
    const state = '/home/eva/.local/state/pas';
    expect(lies({}, linux)).toEqual([
      '/home/eva/.local/share/pas',
      `${state}/pace.sqlite`,
      `${state}/ledger.sqlite`,
    ]);
  });

  test('on macOS', () => {
    const pas = '/Users/eva/Library/Application Support/pas';
    expect(lies({}, macOs)).toEqual([
      `${pas}/data`,
      `${pas}/state/pace.sqlite`,
      `${pas}/state/ledger.sqlite`,
    ]);
  });

  test.each<Record<string, string>>([
    {},
    { LOCALAPPDATA: 'C:\\Users\\Eva Nováková\\AppData\\Local' },
    { LOCALAPPDATA: 'Local' },
  ])('on Windows, with %j', (environment) => {
    const pas = 'C:\\Users\\Eva Nováková\\AppData\\Local\\pas';
    expect(lies(environment, windows)).toEqual([
      `${pas}\\data`,
      `${pas}\\state\\pace.sqlite`,
      `${pas}\\state\\ledger.sqlite`,
    ]);
  });

  test('on Windows on another drive, where the variable says so', () => {
    expect(lies({ LOCALAPPDATA: 'D:\\Data' }, windows)).toEqual([
      'D:\\Data\\pas\\data',
      'D:\\Data\\pas\\state\\pace.sqlite',
      'D:\\Data\\pas\\state\\ledger.sqlite',
    ]);
  });
});

test.each([linux, macOs, windows])('their own variables take precedence on $platform', (on) => {
  const [drive, slash] = on === windows ? ['E:', '\\'] : ['', '/'];
  const at = (...names: string[]): string => [drive, ...names].join(slash);
  const environment = {
    PAS_HOME: at('season'),
    XDG_DATA_HOME: at('data'),
    XDG_STATE_HOME: at('state'),
    LOCALAPPDATA: at('local'),
  };
  expect(lies(environment, on).slice(0, 2)).toEqual([
    at('season'),
    at('state', 'pas', 'pace.sqlite'),
  ]);
  expect(lies({ ...environment, PAS_HOME: '' }, on)[0]).toBe(at('data', 'pas'));
});

test('another HOME moves the data, but neither the pace nor the ledger', () => {
  expect(lies({ HOME: '/tmp/other' }, linux)).toEqual([
    '/tmp/other/.local/share/pas',
    '/home/eva/.local/state/pas/pace.sqlite',
    '/home/eva/.local/state/pas/ledger.sqlite',
  ]);
});

test('PAS_STATE moves the state alone', () => {
  expect(lies({ PAS_STATE: '/mnt/state' }, linux)).toEqual([
    '/home/eva/.local/share/pas',
    '/mnt/state/pace.sqlite',
    '/mnt/state/ledger.sqlite',
  ]);
});
