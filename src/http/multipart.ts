import { createRequire } from 'node:module';
import { PassThrough, type Readable } from 'node:stream';
import type FormData from 'form-data';
import type { RequestBody } from './exchange.ts';

type FilePart = { readonly fileName: string; readonly contentType: string };

/** Loads the package with the first form: it contains all media types, and most commands send no form. */
function newForm(): FormData {
  const Form = createRequire(import.meta.url)('form-data') as typeof FormData;
  return new Form();
}

/** Makes a form with one field `file` whose bytes are in memory. */
export function bytesForm(bytes: Buffer, part: FilePart): RequestBody {
  const form = newForm();
  form.append('file', bytes, { filename: headerSafe(part.fileName), contentType: part.contentType });
  const whole = form.getBuffer();
  return { contentType: contentTypeOf(form), lengthBytes: whole.length, open: () => whole };
}

/** Makes a form with one field `file` of `sizeBytes`, which is opened and read while it is sent. */
export function streamForm(openFile: () => Readable, sizeBytes: number, part: FilePart): RequestBody {
  const form = newForm();
  // The form reads a part once it is piped, so the file is opened then and piped into this stream.
  const file = new PassThrough();
  form.append('file', file, { filename: headerSafe(part.fileName), contentType: part.contentType, knownLength: sizeBytes });
  return {
    contentType: contentTypeOf(form),
    lengthBytes: form.getLengthSync(),
    open: () => {
      const whole = new PassThrough();
      const source = openFile();
      source.on('error', (error) => whole.destroy(error));
      whole.on('close', () => source.destroy());
      source.pipe(file);
      form.pipe(whole);
      return whole;
    },
  };
}

/** Replaces control characters, which no header may have (RFC 9110, section 5.5), and backslashes, which escape a quote (5.6.4). */
function headerSafe(fileName: string): string {
  return fileName.replace(/[\u0000-\u001f\u007f\\]/g, '_');
}

function contentTypeOf(form: FormData): string {
  return form.getHeaders()['content-type'] ?? 'multipart/form-data';
}
