import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseTableBytes, readTable } from '../../../src/tables/readers.ts';
import { makeWorkbook } from '../../support/make-workbook.ts';
import { makeZip } from '../../support/make-zip.ts';
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
    'grp-where-Latitude',
    'grp-where-Longitude',
    'grp-where-Altitude',
    'grp-where-Accuracy',
    'note',
    'KEY',
    'Status',
    'ReviewState',
  ];
  const place = {
    'grp-where-Latitude': '50.0801234567',
    'grp-where-Longitude': '14.4000000001',
    'grp-where-Altitude': '240',
    'grp-where-Accuracy': '4.5',
  };
  const one = {
    ...place,
    'grp-depth_cm': '35',
    'grp-soil': 'clay, "fat"',
    note: 'hrot',
    KEY: 'uuid:a-1',
  };
  const photos = csv(
    ['pic', 'caption', 'depth_cm', 'PARENT_KEY', 'KEY'],
    {
      pic: 'x 1.jpg',
      caption: 'rub',
      depth_cm: '3',
      PARENT_KEY: 'uuid:a-1',
      KEY: 'uuid:a-1/photos[1]',
    },
    { pic: 'x2.jpg', PARENT_KEY: 'uuid:a-1', KEY: 'uuid:a-1/photos[2]' },
    { pic: '', PARENT_KEY: 'uuid:a-2', KEY: 'uuid:a-2/photos[1]' },
  );
  const media = { 'media/x 1.jpg': 'one', 'media/x2.jpg': 'two' };

  test('is read from the archive, its folder or its table: groups, places, photographs, and extra columns', async () => {
    const files = {
      'walk.csv': csv(header, one, { KEY: 'uuid:a-2', note: 'sám' }),
      'walk-photos.csv': photos,
      ...media,
    };
    const folder = writeFolder(files);
    const archive = join(tempFolder(), 'walk.zip');
    writeFileSync(
      archive,
      makeZip(Object.entries(files).map(([name, content]) => ({ name, content }))),
    );
    for (const path of [folder, join(folder, 'walk.csv'), archive]) {
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

  test('is refused where its tables unpack to far more than it has, on the disk as elsewhere', async () => {
    const content = `${header.join(',')}\n${`${'x'.repeat(1000)}\n`.repeat(6000)}`;
    const names = ['walk.csv', 'walk-photos.csv', 'walk-places.csv'];
    const bytes = makeZip(names.map((name) => ({ name, content })));
    const archive = join(tempFolder(), 'walk.zip');
    writeFileSync(archive, bytes);
    await expect(readTable(archive)).rejects.toThrow('is larger than pas reads');
    await expect(parseTableBytes('walk.zip', bytes)).rejects.toThrow('is larger than pas reads');
  });

  test('leaves out, by name, what a reviewer rejected, what is encrypted, and what belongs to no form', async () => {
    const folder = writeFolder({
      'walk.csv': csv(
        header,
        one,
        { KEY: 'uuid:a-2', ReviewState: 'rejected' },
        { KEY: 'uuid:a-3', Status: 'not decrypted' },
      ),
      'walk-photos.csv': csv(['pic', 'PARENT_KEY', 'KEY'], {
        pic: 'lost.jpg',
        PARENT_KEY: 'uuid:gone',
        KEY: 'uuid:gone/photos[1]',
      }),
    });
    const { finds, issues } = await findsIn(folder);
    expect(finds.map(({ local_id }) => local_id)).toEqual(['a-1']);
    expect(issues.map(({ rule, find }) => [rule, find])).toEqual([
      ['form-part-alone', undefined],
      ['form-rejected', 'a-2'],
      ['form-encrypted', 'a-3'],
    ]);
    expect(issues[0]?.message).toContain('lost.jpg');
  });

  test('reports a point less accurate than the form requires', async () => {
    const folder = writeFolder({
      'walk.csv': csv(header, { ...one, 'grp-where-Accuracy': '35.5' }),
    });
    expect((await findsIn(folder)).issues).toMatchObject([
      { rule: 'point-accuracy', find: 'a-1', message: expect.stringContaining('35.5') },
    ]);
  });

  test('with several places takes none as the point', async () => {
    const wide = [...header, 'camp-Latitude', 'camp-Longitude'];
    const folder = writeFolder({
      'walk.csv': csv(wide, { ...one, 'camp-Latitude': '50.1', 'camp-Longitude': '14.5' }),
    });
    const [find] = (await findsIn(folder)).finds;
    expect(find).not.toHaveProperty('lat');
    expect(find?.['poznamka']).toContain('camp-Latitude: 50.1');
    expect(find?.['poznamka']).toContain('grp-where-Latitude: 50.0801234567');
  });

  test('is fine without photographs', async () => {
    const folder = writeFolder({
      'walk.csv': csv(header, one),
      'walk-photos.csv': csv(['pic', 'PARENT_KEY', 'KEY']),
    });
    expect((await readTable(folder)).issues).toEqual([]);
  });

  test('loses no column whose name suggests something else', async () => {
    const wide = [...header, 'photos', 'point'];
    const folder = writeFolder({
      'walk.csv': csv(wide, { ...one, photos: '3 pieces', point: '50.1 14.5 200 3' }),
    });
    const [find] = (await findsIn(folder)).finds;
    expect(find).toMatchObject({ lat: '50.1', lon: '14.5' });
    for (const text of ['photos: 3 pieces', 'grp-where-Latitude: 50.0801234567'])
      expect(find?.['poznamka']).toContain(text);
  });

  test('contains one form at a time', async () => {
    const folder = writeFolder({
      'a.csv': csv(CENTRAL, { KEY: 'uuid:1' }),
      'b.csv': csv(CENTRAL, { KEY: 'uuid:2' }),
    });
    await expect(readTable(folder)).rejects.toThrow(/several forms: a\.csv, b\.csv/);
    await expect(readTable(tempFolder())).rejects.toThrow(/without a table of submitted forms/);
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
    'colour/red',
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
    'colour/red': '1',
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
});

test('an archive of forms is read from a pipe, too', async () => {
  const bytes = makeZip([{ name: 'walk.csv', content: csv(CENTRAL, { KEY: 'uuid:1' }) }]);
  expect(await parseTableBytes('walk.zip', bytes)).toMatchObject({ rowCount: 1, attachments: {} });
});

test('a damaged photograph in an archive is not unpacked', async () => {
  const archive = join(tempFolder(), 'walk.zip');
  const bytes = makeZip([
    { name: 'walk.csv', content: csv(CENTRAL, { KEY: 'uuid:1' }) },
    { name: 'media/a.jpg', content: 'a photograph', claimedBytes: 5 },
  ]);
  writeFileSync(archive, bytes);
  const table = await readTable(archive);
  const enclosed = table.attachments?.archive;
  const to = join(tempFolder(), 'a.jpg');
  await expect(enclosed?.unpack('media/a.jpg', to, 1000)).rejects.toThrow(/damaged/);
  await expect(enclosed?.unpack('media/a.jpg', `${to}-2`, 3)).rejects.toThrow(
    /larger than pas reads/,
  );
  await enclosed?.close();
  expect(readFileSync(archive)).toEqual(bytes);
});

test.each([
  ['a name that climbs', { name: '../../a.jpg', content: 'a' }],
  ['a name from the root', { name: '/etc/passwd', content: 'a' }],
  ['a symbolic link', { name: 'media/a.jpg', content: '/etc/passwd', mode: 0o120777 }],
])('an archive of forms with %s is one error', async (_, part) => {
  const form = { name: 'walk.csv', content: csv(CENTRAL, { KEY: 'uuid:1' }) };
  const archive = makeZip([form, part]);
  const file = join(tempFolder(), 'walk.zip');
  writeFileSync(file, archive);
  for (const reading of [parseTableBytes('walk.zip', archive), readTable(file)])
    await expect(reading).rejects.toThrow('points outside the archive');
});

test('an archive of forms on the disk may be larger than a table, for its photographs', async () => {
  const form = { name: 'walk.csv', content: csv(CENTRAL, { KEY: 'uuid:1' }) };
  const photographs = [1, 2].map((nth) => ({
    name: `media/${nth}.jpg`,
    content: Buffer.alloc(40 * 1024 * 1024),
    level: 0,
  }));
  const file = join(tempFolder(), 'walk.zip');
  writeFileSync(file, makeZip([form, ...photographs]));
  expect(await readTable(file)).toMatchObject({
    rowCount: 1,
    attachments: { paths: ['walk.csv', 'media/1.jpg', 'media/2.jpg'] },
  });
});
