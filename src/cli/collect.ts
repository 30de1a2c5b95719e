/** A flag that may be given several times: commander hands over one value after the other. */
export const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value]
