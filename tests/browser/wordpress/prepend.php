<?php
/* Before everything: WordPress's program files are Debian's, and its folder is that of the test. */
define( 'ABSPATH', getenv( 'WORDPRESS_FOLDER' ) . '/' );
