import { expect, test } from 'vitest';
import { readRepeatedElements } from '../../../src/harvest/record-json.ts';

test.each(['2.0', '2.1', '2.2', '9.9', 'newest'])(
  'repeatable elements come from the schema of version %s',
  (version) => {
    const repeated = [...readRepeatedElements(version)].flatMap(([parent, names]) =>
      [...names].map((name) => `${parent}/${name}`),
    );
    for (const path of [
      'samostatny_nalez/soubor',
      'soubor/historie',
      'heslo/odkaz',
      'projekt/dokument',
      'komponenta/nalez_predmet',
    ]) {
      expect(repeated).toContain(path);
    }
    for (const path of [
      'extra_data/odkaz',
      'samostatny_nalez/projekt',
      'adb/dokumentacni_jednotka',
      'tvar/tvar',
      'svc/dokument',
    ]) {
      expect(repeated).not.toContain(path);
    }
  },
);
