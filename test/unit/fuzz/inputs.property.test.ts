import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import busboy from 'busboy';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toPrintable } from '../../../src/base/characters.ts';
import { ConfigError } from '../../../src/base/errors.ts';
import { readConfigFile } from '../../../src/cli/context/config.ts';
import {
  makeMultipartOfBytes,
  makeMultipartOfStream,
} from '../../../src/service/http/request-body.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 200 });

describe('config.toml', () => {
  const path = join(tempFolder(), 'config.toml');
  const read = (content: string | Uint8Array): unknown => {
    writeFileSync(path, content);
    try {
      return readConfigFile(path);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(ConfigError);
      return undefined;
    }
  };

  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    'refuses the key %s',
    (name) => {
      expect(read(`[profiles.a]\n"${name}" = "x"\n`)).toBeUndefined();
    },
  );

  test.each(['[', '{a=', 'a.', '"""'])('nested or repeated endlessly (%j) is refused', (piece) => {
    expect(read(`a = ${piece.repeat(20_000)}`)).toBeUndefined();
  });
});

describe('a form', () => {
  type Part = { field: string; name: string | undefined; bytes: Buffer };

  async function parseParts(contentType: string, body: Readable): Promise<Part[]> {
    const parts: Part[] = [];
    const reader = busboy({
      headers: { 'content-type': contentType },
      defParamCharset: 'utf8',
      preservePath: true,
    });
    reader.on('file', (field, stream, info) => {
      const chunks: Buffer[] = [];
      stream
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => parts.push({ field, name: info.filename, bytes: Buffer.concat(chunks) }));
    });
    reader.on('field', (field, value) =>
      parts.push({ field, name: undefined, bytes: Buffer.from(value) }),
    );
    await new Promise((resolve, reject) =>
      body.pipe(reader).on('close', resolve).on('error', reject),
    );
    return parts;
  }

  const anyName = fc.oneof(
    fc.string({ minLength: 1, maxLength: 40 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    fc.constantFrom(
      'a"; name="other.png',
      'a\r\nContent-Type: text/html\r\n\r\nx.png',
      'nález č. 7.jpg',
      '\u202egnp.exe',
      "it's.png",
      'a\\b.png',
    ),
  );
  // Names of files hold no slash, and are never empty.
  const fileName = anyName.filter((name) => !/[/\0]/.test(name) && !/^\.{1,2}$/.test(name));

  test('has one part with the file’s bytes and the announced length, for any file name', async () => {
    await fc.assert(
      fc.asyncProperty(
        fileName,
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        async (name, content) => {
          const bytes = Buffer.from(content);
          const part = { fileName: name, contentType: 'image/png' };
          for (const form of [
            makeMultipartOfBytes(bytes, part),
            makeMultipartOfStream(() => Readable.from([bytes]), bytes.length, part),
          ]) {
            const opened = form.open();
            const whole = Buffer.isBuffer(opened) ? opened : Buffer.concat(await opened.toArray());
            expect(whole.length).toBe(form.lengthBytes);
            const parts = await parseParts(form.contentType, Readable.from([whole]));
            expect(parts.map(({ field }) => field)).toEqual(['file']);
            expect(parts[0]?.bytes.equals(bytes)).toBe(true);
          }
        },
      ),
    );
  });
});

test('no printable text controls a terminal, and escaping it twice changes nothing', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = toPrintable(text);
      expect(shown).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
      );
      expect(toPrintable(shown)).toBe(shown);
    }),
  );
});
