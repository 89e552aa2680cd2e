import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTable } from '../../../src/tables/readers.ts';
import { makeWorkbook } from '../../support/make-workbook.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const CENTRAL = ['SubmissionDate', 'note', 'KEY', 'SubmitterID', 'Status', 'ReviewState'];

function writeFolder(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = tempFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

function csv(
  header: readonly string[],
  ...rows: readonly Readonly<Record<string, string>>[]
): string {
  const lines = rows.map((row) =>
    header.map((name) => `"${(row[name] ?? '').replaceAll('"', '""')}"`).join(','),
  );
  return `${[header.join(','), ...lines].join('\n')}\n`;
}

async function findsIn(path: string) {
  const table = await readTable(path);
  const names = table.header;
  return {
    finds: [...table.rows].map(({ cells }) =>
      Object.fromEntries(
        names.flatMap((name, index) => ((cells[index] ?? '') === '' ? [] : [[name, cells[index]]])),
      ),
    ),
    issues: table.issues.map(({ rule, find, message }) => ({
      rule,
      find,
      message: String(message),
    })),
  };
}

describe('an export of ODK Central', () => {
  const header = [
    'SubmissionDate',
    'grp-depth_cm',
    'grp-soil',
    'grp-point-Latitude',
    'grp-point-Longitude',
    'grp-point-Altitude',
    'grp-point-Accuracy',
    'note',
    'KEY',
    'Status',
    'ReviewState',
  ];
  const place = {
    'grp-point-Latitude': '50.0801234567',
    'grp-point-Longitude': '14.4000000001',
    'grp-point-Altitude': '240',
    'grp-point-Accuracy': '4.5',
  };
  const one = {
    ...place,
    'grp-depth_cm': '35',
    'grp-soil': 'clay, "fat"',
    note: 'hrot',
    KEY: 'uuid:a-1',
  };
  const photos = csv(
    ['photo', 'caption', 'depth_cm', 'PARENT_KEY', 'KEY'],
    {
      photo: 'x 1.jpg',
      caption: 'rub',
      depth_cm: '3',
      PARENT_KEY: 'uuid:a-1',
      KEY: 'uuid:a-1/photos[1]',
    },
    { photo: 'x2.jpg', PARENT_KEY: 'uuid:a-1', KEY: 'uuid:a-1/photos[2]' },
    { photo: '', PARENT_KEY: 'uuid:a-2', KEY: 'uuid:a-2/photos[1]' },
  );
  const media = { 'media/x 1.jpg': 'one', 'media/x2.jpg': 'two' };

  test('is read from its folder or its table: groups, places, photographs, and extra columns', async () => {
    const files = {
      'walk.csv': csv(header, one, { KEY: 'uuid:a-2', note: 'sám' }),
      'walk-photos.csv': photos,
      ...media,
    };
    const folder = writeFolder(files);
    for (const path of [folder, join(folder, 'walk.csv')]) {
      expect(await findsIn(path)).toEqual({
        finds: [
          {
            local_id: 'a-1',
            hloubka: '35',
            lat: '50.0801234567',
            lon: '14.4000000001',
            photos: 'media/x 1.jpg;media/x2.jpg',
            poznamka: 'hrot\ngrp-soil: clay, "fat"\nhloubka: 3\ncaption: rub',
          },
          { local_id: 'a-2', poznamka: 'sám' },
        ],
        issues: [],
      });
    }
  });

  test('leaves out, by name, what a reviewer rejected, and what belongs to no form', async () => {
    const folder = writeFolder({
      'walk.csv': csv(header, one, { KEY: 'uuid:a-2', ReviewState: 'rejected' }),
      'walk-photos.csv': csv(['photo', 'PARENT_KEY', 'KEY'], {
        photo: 'lost.jpg',
        PARENT_KEY: 'uuid:gone',
        KEY: 'uuid:gone/photos[1]',
      }),
    });
    const { finds, issues } = await findsIn(folder);
    expect(finds.map(({ local_id }) => local_id)).toEqual(['a-1']);
    expect(issues.map(({ rule, find }) => [rule, find])).toEqual([
      ['form-part-alone', undefined],
      ['form-rejected', 'a-2'],
    ]);
    expect(issues[0]?.message).toContain('lost.jpg');
  });

  test('reports a point less accurate than the form requires', async () => {
    const folder = writeFolder({
      'walk.csv': csv(header, { ...one, 'grp-point-Accuracy': '35.5' }),
    });
    expect((await findsIn(folder)).issues).toMatchObject([
      { rule: 'point-accuracy', find: 'a-1', message: expect.stringContaining('35.5') },
    ]);
  });

  test('keeps another place in the note', async () => {
    const wide = [...header, 'camp-Latitude', 'camp-Longitude'];
    const folder = writeFolder({
      'walk.csv': csv(wide, { ...one, 'camp-Latitude': '50.1', 'camp-Longitude': '14.5' }),
    });
    const [find] = (await findsIn(folder)).finds;
    expect(find).toMatchObject({ lat: '50.0801234567', lon: '14.4000000001' });
    expect(find?.['poznamka']).toContain('camp-Latitude: 50.1');
  });

  test('loses no column whose name suggests something else', async () => {
    const wide = [...header, 'photos'];
    const folder = writeFolder({
      'walk.csv': csv(wide, { ...one, photos: '3 pieces' }),
    });
    const [find] = (await findsIn(folder)).finds;
    expect(find?.['poznamka']).toContain('photos: 3 pieces');
  });

  test('may have a file of Excel beside its table', async () => {
    const folder = writeFolder({ '~$a.csv': 'x', 'a.csv': csv(header, one) });
    expect((await readTable(folder)).rowCount).toBe(1);
  });

  test('contains one form at a time', async () => {
    const folder = writeFolder({
      'a.csv': csv(CENTRAL, { KEY: 'uuid:1' }),
      'b.csv': csv(CENTRAL, { KEY: 'uuid:2' }),
    });
    await expect(readTable(folder)).rejects.toThrow(/these tables: a\.csv, b\.csv\./);
    await expect(readTable(tempFolder())).rejects.toThrow(/is a folder without a CSV or XLSX\./);
  });
});

describe('an export of KoboToolbox', () => {
  const header = [
    'local_id',
    'point',
    '_point_latitude',
    '_point_longitude',
    'photo',
    'photo_URL',
    'colour',
    '_id',
    '_uuid',
    '_submission_time',
    '_validation_status',
    'meta/rootUuid',
    '_index',
  ];
  const row = {
    point: '50.08 14.4 0 0',
    _point_latitude: '50.08',
    _point_longitude: '14.4',
    photo: 'a.jpg',
    photo_URL: 'https://x/a.jpg',
    colour: 'red',
  };

  test('follows the corrected form, whichever form the correction is', async () => {
    const folder = writeFolder({
      'k.csv': csv(
        header,
        { ...row, _id: '1', _uuid: 'u-9', 'meta/rootUuid': 'uuid:u-1', _index: '1' },
        { _id: '2', _uuid: 'u-2', _index: '2', local_id: 'K-7' },
      ),
      'attachments/u-1/a.jpg': 'right',
      'attachments/u-8/a.jpg': 'wrong',
    });
    expect((await findsIn(folder)).finds).toEqual([
      {
        local_id: 'u-1',
        lat: '50.08',
        lon: '14.4',
        photos: 'attachments/u-1/a.jpg',
        poznamka: 'colour: red',
      },
      { local_id: 'K-7' },
    ]);
  });

  test('has a finder who was both chosen and written: neither is taken', async () => {
    const answers = { nalezce: 'OS-001507', nalezce_jmeno: 'Nová, Eva', _id: '1' };
    const folder = writeFolder({
      'k.csv': csv(
        ['nalezce', 'nalezce_jmeno', '_id', '_uuid', '_submission_time'],
        { ...answers, _uuid: 'u-1' },
        { ...answers, _uuid: 'u-2', nalezce: 'not in the list: write it below' },
      ),
    });
    const { finds, issues } = await findsIn(folder);
    expect(finds).toEqual([{ local_id: 'u-2', nalezce: 'Nová, Eva' }]);
    expect(issues).toMatchObject([{ rule: 'answer-twice', find: 'u-1' }]);
  });

  test('may have indistinguishable photographs: none is guessed', async () => {
    const folder = writeFolder({
      'k.csv': csv(header, { ...row, _id: '1', _uuid: 'u-1', _index: '1' }),
      'one/a.jpg': 'one',
      'two/a.jpg': 'two',
    });
    const { finds, issues } = await findsIn(folder);
    expect(finds[0]).not.toHaveProperty('photos');
    expect(issues).toMatchObject([
      { rule: 'photo-unclear', find: 'u-1', message: expect.stringContaining('a.jpg') },
    ]);
  });

  test('has KoboToolbox’s own spelling of names, and repeated groups on separate sheets', async () => {
    const sheets = [
      {
        name: 'Finds',
        rows: [
          ['depth_cm', '_id', '_uuid', '_submission_time', '_index'],
          ['35', 1, 'u-1', '2024', 1],
        ],
      },
      {
        name: 'photos',
        rows: [
          ['photo', '_parent_table_name', '_parent_index'],
          ['můj nález (1).jpg', 'Finds', 1],
        ],
      },
    ];
    const folder = writeFolder({ 'k.xlsx': makeWorkbook(sheets), 'můj_nález_1.jpg': 'one' });
    expect((await findsIn(join(folder, 'k.xlsx'))).finds).toEqual([
      { local_id: 'u-1', hloubka: '35', photos: 'můj_nález_1.jpg' },
    ]);
  });

  test('attaches photographs by the index of a form, which may be the number of another find', async () => {
    const sheets = [
      {
        name: 'Finds',
        rows: [
          ['local_id', '_id', '_uuid', '_submission_time', '_index'],
          ['2', 1, 'u-1', '2024', 1],
          ['1', 2, 'u-2', '2024', 2],
        ],
      },
      {
        name: 'photos',
        rows: [
          ['photo', '_parent_table_name', '_parent_index'],
          ['a.jpg', 'Finds', 1],
          ['b.jpg', 'Finds', 2],
        ],
      },
    ];
    const folder = writeFolder({ 'k.xlsx': makeWorkbook(sheets), 'a.jpg': 'a', 'b.jpg': 'b' });
    expect((await findsIn(join(folder, 'k.xlsx'))).finds).toEqual([
      { local_id: '2', photos: 'a.jpg' },
      { local_id: '1', photos: 'b.jpg' },
    ]);
  });
});
