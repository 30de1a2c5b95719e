/** Style sheets are imported for their effect; Vite builds them. */
declare module '*.css'
