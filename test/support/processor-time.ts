/**
 * Processor time of this process since a call of `process.cpuUsage()`. The system divides the sum
 * into its two parts by samples, so that each part alone may be nothing.
 */
export function processorMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
