/** Classifies the status of an HTTP response. */

/** Whether it is 2xx; null, for no response, is not. */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300
