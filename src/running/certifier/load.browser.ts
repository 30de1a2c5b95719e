/** In browsers no server runs, so there is no readiness to load. */
export const readinessLoader = () => undefined
