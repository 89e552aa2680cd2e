import { t } from '../base/language.ts';

/** "2024-04-03 or 2024-03-04" */
export function alternatives(names: readonly string[]): string {
  return names.join(t` or `);
}

/** "lon and lat" */
export function together(names: readonly string[]): string {
  return names.join(t` and `);
}
