/** YYYY-MM-DD where the user is. */
export function localDate(nowMs: number): string {
  const now = new Date(nowMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
