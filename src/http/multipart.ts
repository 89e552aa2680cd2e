import { createRequire } from 'node:module';
import { PassThrough, type Readable } from 'node:stream';
import type FormData from 'form-data';
import type { RequestBody } from './exchange.ts';

type FilePart = { readonly fileName: string; readonly contentType: string };

/** Loaded with the first form, because it brings a list of all media types and most commands send none. */
function newForm(): FormData {
  const Form = createRequire(import.meta.url)('form-data') as typeof FormData;
  return new Form();
}

/** A form with one field `file` whose bytes are in memory. */
export function bytesForm(bytes: Buffer, part: FilePart): RequestBody {
  const form = newForm();
  form.append('file', bytes, { filename: headerSafe(part.fileName), contentType: part.contentType });
  const whole = form.getBuffer();
  return { contentType: contentTypeOf(form), lengthBytes: whole.length, open: () => whole };
}

/** A form with one field `file` that is read while it is sent; `sizeBytes` is the file's, known beforehand. */
export function streamForm(openFile: () => Readable, sizeBytes: number, part: FilePart): RequestBody {
  const form = newForm();
  // The form starts to read a part when it is piped, so the file is opened then, through this stand-in.
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

/**
 * Control characters may stand in a file's name, but in no header (RFC 9110, section 5.5); a backslash hides the quote
 * behind it from those who read the name as a quoted string (section 5.6.4).
 */
function headerSafe(fileName: string): string {
  return fileName.replace(/[\u0000-\u001f\u007f\\]/g, '_');
}

function contentTypeOf(form: FormData): string {
  return form.getHeaders()['content-type'] ?? 'multipart/form-data';
}
